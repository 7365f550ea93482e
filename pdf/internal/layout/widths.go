package layout

import "example.com/quire/pdf/doc"

// widths shares total among columns: fixed and percent columns first, then auto
// columns between the least and the most their content asks for, then fractions
// of what is left. least and most are read for auto columns only. The widths go
// into out, which is as long as cols.
func widths(out []doc.Length, cols []doc.Width, total doc.Length, least, most []doc.Length) []doc.Length {
	var used, shares doc.Length
	autos := 0
	for i, w := range cols {
		switch w.Kind {
		case doc.WidthFixed:
			out[i] = w.Value
		case doc.WidthPercent:
			out[i] = total * w.Value / (100 * 1024)
		case doc.WidthFraction:
			shares += fraction(w)
		case doc.WidthAuto:
			autos++
		}
		used += out[i]
	}
	left := total - used
	if autos > 0 {
		left -= autoWidths(cols, out, left, shares, least, most)
	}
	if shares > 0 && left > 0 {
		// Cumulated, so that the fractions add up to all that is left.
		var sum, given doc.Length
		for i, w := range cols {
			if w.Kind == doc.WidthFraction {
				sum += fraction(w)
				end := left * sum / shares
				out[i] = end - given
				given = end
			}
		}
	}
	return out
}

func fraction(w doc.Width) doc.Length {
	if w.Value <= 0 {
		return 1024
	}
	return w.Value
}

// autoWidths fills in the auto columns and returns their sum.
func autoWidths(cols []doc.Width, out []doc.Length, left, shares doc.Length, least, most []doc.Length) doc.Length {
	var need, want doc.Length
	for i, w := range cols {
		if w.Kind == doc.WidthAuto {
			need += least[i]
			want += most[i]
		}
	}
	if shares > 0 {
		left -= min(left/4, 72*doc.Pt) // the fractions keep something
	}
	var sum doc.Length
	for i, w := range cols {
		if w.Kind != doc.WidthAuto {
			continue
		}
		switch {
		case want <= left:
			out[i] = most[i]
		case need >= left || want == need:
			out[i] = max(0, left) * least[i] / max(need, 1)
		default:
			out[i] = least[i] + (left-need)*(most[i]-least[i])/(want-need)
		}
		sum += out[i]
	}
	return sum
}
