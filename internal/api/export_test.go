package api

// MemberOf is the member of a request for a conversion that sets a field of htmlpdf.
func MemberOf(field string) string { return memberOf(field) }

// ConversionProblem tells why a page was not converted.
func ConversionProblem(err error) error { return conversionProblem(err) }
