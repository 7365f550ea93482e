package router

// Routes returns the number of routes of a set.
func Routes(name string) int {
	return len(map[string]set{"github": github(), "static": static()}[name].routes)
}
