package text

// PlainBreaks is plainBreaks.
func PlainBreaks(dst []Break, s string) ([]Break, bool) { return plainBreaks(dst, s) }
