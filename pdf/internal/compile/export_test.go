package compile

// GrammarKeys returns the keys of a mapping of the language that are of this version.
func GrammarKeys(name string) []string { return now(language()[name]) }

// BlockKeys returns the keys that may stand beside the kind of a block, but for the kind itself.
func BlockKeys(kind string) []string {
	for _, k := range kinds() {
		if k.name == kind {
			return now(blockMapping(k))[1:]
		}
	}
	return nil
}

// Mappings returns the names of all mappings, and Kinds those of the blocks of this version.
func Mappings() (all []string) {
	for name := range language() {
		all = append(all, name)
	}
	return all
}

func Kinds() (all []string) {
	for _, k := range kinds() {
		if k.compile != nil {
			all = append(all, k.name)
		}
	}
	return all
}

func now(m *mapping) (names []string) {
	for _, k := range m.keys {
		if !k.later {
			names = append(names, k.name)
		}
	}
	return names
}

// Compiled returns how many components were compiled so far, those that were kept not among them.
func (k *Components) Compiled() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.compiled
}
