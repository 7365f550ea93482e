// Package image prepares what is drawn beside text. So far that is images: JPEG
// and PNG files, checked and turned into image XObjects (ISO 32000-2, 8.9.5).
package image
