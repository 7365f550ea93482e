package layout_test

import (
	"testing"

	"example.com/quire/pdf/doc"
)

// TestRuleStandsInItsWidth: a rule is as long as it says, at the side it says, or at that where
// texts start; a longer one than there is room for is an error.
func TestRuleStandsInItsWidth(t *testing.T) {
	const pt = doc.Pt
	half := doc.Percent(50)
	for _, c := range []struct {
		name string
		lang string
		rule doc.Rule
		x, w doc.Length
	}{
		{"all", "", doc.Rule{}, 20 * pt, 200 * pt},
		{"all, at the right", "", doc.Rule{Align: doc.AlignRight}, 20 * pt, 200 * pt},
		{"length", "", doc.Rule{Width: doc.Fixed(50 * pt)}, 20 * pt, 50 * pt},
		{"share", "", doc.Rule{Width: half}, 20 * pt, 100 * pt},
		{"center", "", doc.Rule{Width: half, Align: doc.AlignCenter}, 70 * pt, 100 * pt},
		{"right", "", doc.Rule{Width: half, Align: doc.AlignRight}, 120 * pt, 100 * pt},
		{"start from the right", "ar", doc.Rule{Width: half}, 120 * pt, 100 * pt},
		{"left in spite of it", "ar", doc.Rule{Width: half, Align: doc.AlignLeft}, 20 * pt, 100 * pt},
	} {
		t.Run(c.name, func(t *testing.T) {
			rule := c.rule
			rule.Lang, rule.Thickness, rule.Dash = c.lang, 2*pt, [2]doc.Length{3 * pt, pt}
			r := place(t, &rule)
			got := r.rects[1]
			if len(got) != 1 || got[0].X != c.x || got[0].W != c.w || got[0].H != 2*pt || got[0].Dash != rule.Dash {
				t.Errorf("%+v, want one from %d of %d", got, c.x, c.w)
			}
		})
	}
	fails(t, "L306", &doc.Rule{Width: doc.Fixed(201 * pt)})
}
