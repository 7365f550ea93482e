// Package image reads JPEG, PNG, GIF, TIFF and WebP images, checks them and makes image XObjects
// of them (ISO 32000-2, 8.9.5).
package image
