package locale

import (
	"strings"

	"golang.org/x/text/language"
)

// currencies are the codes of ISO 4217: those in use, and those of currencies that the euro
// or a reform replaced, which old documents still name.
const currencies = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD " +
	"CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD " +
	"GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL " +
	"LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG " +
	"QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH " +
	"UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX " +
	"YER ZAR ZMW ZWG " +
	"ADP ATS BEF BYR CSK CYP DEM EEK ESP FIM FRF GRD HRK IEP ITL LTL LUF LVL MGF MRO MTL NLG PTE ROL SIT SKK SLL STD TMM TRL ZMK ZWD ZWL"

// languages are the two-letter codes of ISO 639-1, regions those of ISO 3166-1.
const (
	languages = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es " +
		"et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk " +
		"kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc " +
		"oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl " +
		"tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
	regions = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF " +
		"CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH " +
		"GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW " +
		"KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG " +
		"NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN " +
		"SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE " +
		"YT ZA ZM ZW"
)

// inList reports whether a list of codes of one length, apart by one space, has code.
func inList(list, code string) bool {
	for rest := list; len(code) > 0; {
		i := strings.Index(rest, code)
		if i < 0 {
			return false
		}
		at := len(list) - len(rest) + i
		if at%(len(code)+1) == 0 {
			return true
		}
		rest = rest[i+1:]
	}
	return false
}

// ValidCurrency reports whether code is one of ISO 4217.
func ValidCurrency(code string) bool { return len(code) == 3 && inList(currencies, code) }

// Currencies returns the codes of ISO 4217.
func Currencies() []string { return strings.Fields(currencies) }

// UnknownPart returns the part of a well-formed BCP 47 tag that names a language, a script or a
// region that is not registered, with what it may have been meant to be; "" when all are known.
// Variants are taken as they are.
func UnknownPart(tag string) (part string, known []string) {
	subtags := strings.Split(tag, "-")
	switch lang := strings.ToLower(subtags[0]); {
	case len(lang) == 1: // private use
		return "", nil
	case len(lang) == 2 && !inList(languages, lang):
		return subtags[0], strings.Fields(languages)
	case len(lang) == 3 && !isLanguage(lang):
		return subtags[0], append(neighbours(lang, isLanguage), strings.Fields(languages)...)
	}
	for i, s := range subtags[1:] {
		switch {
		case len(s) == 1: // extensions and private use follow
			return "", nil
		case len(s) == 2 && i < 3 && !inList(regions, strings.ToUpper(s)):
			return s, strings.Fields(regions)
		case len(s) == 4 && i < 2 && s[0] > '9' && !isScript(s): // a variant of four begins with a digit
			return s, append(neighbours(strings.ToLower(s), isScript), "Latn", "Cyrl", "Arab", "Deva", "Hans", "Hant")
		}
	}
	return "", nil
}

// isLanguage and isScript report whether a code is in the registry of language subtags.
func isLanguage(code string) bool {
	_, err := language.ParseBase(code)
	return err == nil
}

func isScript(code string) bool {
	_, err := language.ParseScript(code)
	return err == nil
}

// neighbours returns the codes that differ from code in one letter, or in the order of two.
func neighbours(code string, known func(string) bool) (out []string) {
	try := func(b []byte) {
		if s := string(b); s != code && known(s) {
			out = append(out, s)
		}
	}
	for i := range len(code) {
		b := []byte(code)
		for b[i] = 'a'; b[i] <= 'z'; b[i]++ {
			try(b)
		}
		if i > 0 {
			b = []byte(code)
			b[i-1], b[i] = b[i], b[i-1]
			try(b)
		}
	}
	return out
}
