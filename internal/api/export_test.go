package api

// ConversionProblem tells why a page was not converted.
func ConversionProblem(err error) error { return conversionProblem(err) }
