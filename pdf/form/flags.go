package form

// Flags of fields, the entry Ff (ISO 32000-2, 12.7.4.1 and 12.7.5.2 to 12.7.5.4).
const (
	FlagReadOnly      = 1 << 0
	FlagRequired      = 1 << 1
	FlagNoExport      = 1 << 2
	FlagMultiline     = 1 << 12 // of texts
	FlagPassword      = 1 << 13
	FlagNoToggleToOff = 1 << 14 // of buttons
	FlagRadio         = 1 << 15
	FlagPushbutton    = 1 << 16
	FlagCombo         = 1 << 17 // of choices
	FlagEdit          = 1 << 18
	FlagFileSelect    = 1 << 20 // of texts
	FlagMultiSelect   = 1 << 21 // of choices
	FlagDoNotScroll   = 1 << 23 // of texts
	FlagComb          = 1 << 24
	FlagRichText      = 1 << 25
)
