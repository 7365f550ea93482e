package pdftest

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Verdict is what veraPDF says of one file.
type Verdict struct {
	Unread    bool // the file could not be parsed: there is no verdict
	Compliant bool
	Clauses   []string // that failed, as in "ISO 19005-4:2020 6.7.3-1", sorted
	Messages  []string // what veraPDF says of each
}

// veraScript is run by the interpreter of JavaScript that veraPDF brings along.
const veraScript = "pdf/pdftest/verapdf.js"

// VeraPDF validates every file whose name ends in .pdf of each directory against the flavour that
// is the directory's key: "4" for PDF/A-4, "ua2" for PDF/UA-2. It returns the verdicts by flavour
// and file name. One call is one start of the Java machine, some seconds: put many files into one
// directory and many directories into one call. With -short, the test ends here.
func VeraPDF(tb testing.TB, folders map[string]string) map[string]map[string]Verdict {
	tb.Helper()
	if testing.Short() {
		tb.Skip("starts a Java machine: run without -short")
	}
	jar := Need(tb, "verapdf")
	java := Need(tb, "java")
	root, err := Root()
	if err != nil {
		tb.Fatal(err)
	}
	// The judge lives for seconds: the second compiler and a collector with threads of its own
	// would cost more than they give back, half of the processor time.
	args := []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", jar, "org.mozilla.javascript.tools.shell.Main", filepath.Join(root, veraScript)}
	reports := tb.TempDir()
	for _, flavour := range slices.Sorted(maps.Keys(folders)) {
		args = append(args, flavour, folders[flavour], filepath.Join(reports, flavour))
	}
	out, errs, _ := output(tb, exec.CommandContext(tb.Context(), java, args...)) //nolint:gosec // G204: a fixed judge on folders of the test
	verdicts := map[string]map[string]Verdict{}
	for line := range strings.Lines(out) {
		flavour, status, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch status {
		case "0", "1", "7", "9": // 7 and 9: it failed at one of the files, which has no verdict then
			report, err := os.ReadFile(filepath.Join(reports, flavour))
			if err != nil {
				tb.Fatalf("veraPDF %s: %v", flavour, err)
			}
			verdicts[flavour] = veraVerdicts(tb, report)
		}
	}
	if len(verdicts) < len(folders) {
		tb.Fatalf("veraPDF judged %d of %d folders: %s\n%s", len(verdicts), len(folders), out, errs)
	}
	return verdicts
}

func veraVerdicts(tb testing.TB, text []byte) map[string]Verdict {
	tb.Helper()
	var report veraReport
	if err := json.Unmarshal(text, &report); err != nil {
		tb.Fatalf("veraPDF: read report: %v: %s", err, text)
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
