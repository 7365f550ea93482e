// Package image reads the images that are drawn beside text, JPEG, PNG, GIF, TIFF and WebP, checks
// them and makes image XObjects of them (ISO 32000-2, 8.9.5).
package image
