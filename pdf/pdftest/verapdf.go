package pdftest

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Verdict is what veraPDF says of one file.
type Verdict struct {
	Unread    bool // the file could not be parsed: there is no verdict
	Compliant bool
	Clauses   []string // that failed, as in "ISO 19005-4:2020 6.7.3-1", sorted
	Messages  []string // what veraPDF says of each
}

// VeraPDF judges every file of a folder whose name ends in .pdf against a
// flavour: "4" for PDF/A-4, "ua2" for PDF/UA-2. It returns the verdicts by file
// name. One call is one start of the Java machine, some seconds: put many files
// into one folder. With -short, the test ends here.
func VeraPDF(tb testing.TB, flavour, dir string) map[string]Verdict {
	tb.Helper()
	if testing.Short() {
		tb.Skip("starts a Java machine: run without -short")
	}
	jar := Need(tb, "verapdf")
	java := Need(tb, "java")
	// The judge lives for seconds: the second compiler and a collector with threads of its own
	// would cost more than they give back, half of the processor time.
	cmd := exec.CommandContext(tb.Context(), java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", jar, "-f", flavour, "--format", "json", "-r", dir) //nolint:gosec // G204: a fixed judge on a folder of the test
	out, errs, code := output(tb, cmd)
	const unread = 7 // it could not parse one of the files, which has no verdict then
	if code > 1 && code != unread {
		tb.Fatalf("veraPDF: exit %d: %s", code, errs)
	}
	var report veraReport
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		tb.Fatalf("veraPDF: read report: %v: %s", err, errs)
	}
	verdicts := map[string]Verdict{}
	for _, j := range report.Report.Jobs {
		v := Verdict{Unread: len(j.ValidationResult) == 0}
		for _, r := range j.ValidationResult {
			v.Compliant = r.Compliant
			for _, s := range r.Details.RuleSummaries {
				if s.RuleStatus == "FAILED" {
					v.Clauses = append(v.Clauses, s.Specification+" "+s.Clause+"-"+s.TestNumber.String())
					v.Messages = append(v.Messages, s.Description)
				}
			}
		}
		slices.Sort(v.Clauses)
		verdicts[filepath.Base(j.ItemDetails.Name)] = v
	}
	return verdicts
}

type veraReport struct {
	Report struct {
		Jobs []struct {
			ItemDetails struct {
				Name string `json:"name"`
			} `json:"itemDetails"`
			ValidationResult []struct {
				Compliant bool `json:"compliant"`
				Details   struct {
					RuleSummaries []struct {
						RuleStatus    string      `json:"ruleStatus"`
						Specification string      `json:"specification"`
						Clause        string      `json:"clause"`
						TestNumber    json.Number `json:"testNumber"`
						Description   string      `json:"description"`
					} `json:"ruleSummaries"`
				} `json:"details"`
			} `json:"validationResult"`
		} `json:"jobs"`
	} `json:"report"`
}
