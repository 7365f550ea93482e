package gate

// CountInstructions is exported for the tests.
var CountInstructions = countInstructions
