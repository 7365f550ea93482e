package workload

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// NoteKind is a kind of contract note: the confirmation of a broker's trades for a client.
type NoteKind int

// The kinds of contract notes.
const (
	Retail    NoteKind = iota // one page, two trades
	Active                    // two pages with a watermark, forty trades
	HFT                       // seventy-five pages, two thousand trades
	NoteKinds                 // how many there are
)

// NoteSeed is that of the stream of notes.
const NoteSeed = 41

//go:embed note-retail.yaml
var retailTemplate []byte

//go:embed note-active.yaml
var activeTemplate []byte

//go:embed note-hft.yaml
var hftTemplate []byte

var noteKinds = [NoteKinds]struct {
	name     string
	template []byte
	trades   int
	pages    int
}{
	Retail: {"retail", retailTemplate, 2, 1},
	Active: {"active", activeTemplate, 40, 2},
	HFT:    {"hft", hftTemplate, 2000, 75},
}

// String returns the name of the kind; that of NoteKinds is "mix".
func (k NoteKind) String() string {
	if k == NoteKinds {
		return "mix"
	}
	return noteKinds[k].name
}

// Template is the source of the kind's template.
func (k NoteKind) Template() []byte { return noteKinds[k].template }

// Trades is how many trades a note of the kind has.
func (k NoteKind) Trades() int { return noteKinds[k].trades }

// Pages is how many pages a note of the kind has.
func (k NoteKind) Pages() int { return noteKinds[k].pages }

// Note is the data of one contract note.
type Note struct {
	Number string `json:"number"`
	Date   string `json:"date"`
	Client struct {
		Name    string   `json:"name"`
		Code    string   `json:"code"`
		Address []string `json:"address"`
	} `json:"client"`
	Trades []Trade `json:"trades"`
}

// Trade is one trade of a note. Prices have two decimals.
type Trade struct {
	Order  string      `json:"order"`
	Time   string      `json:"time"`
	Symbol string      `json:"symbol"`
	Side   string      `json:"side"` // BUY or SELL
	Qty    int64       `json:"qty"`
	Price  json.Number `json:"price"`
}

var (
	clientGiven  = strings.Fields("Asha Bina Chandra Dev Esha Farah Gopal Hema Indra Jaya Kiran Lata Mohan Nisha Omkar Priya Ravi Sita Tara Uma")
	clientFamily = strings.Fields("Acharya Bose Chopra Desai Ghosh Iyer Joshi Kapoor Mehta Nair Patel Rao Shah Sharma Varma Yadav")
	clientStreet = strings.Fields("Lake Hill Station Temple Market River Garden Harbour")
	clientTown   = strings.Fields("Pune Mumbai Chennai Kolkata Delhi Jaipur Kochi Surat")
)

// NewNote makes note i of a kind with so many trades: the same i gives the same data, and no two
// give the same.
func NewNote(k NoteKind, i, trades int) *Note {
	rng := rand.New(rand.NewPCG(NoteSeed+uint64(k), uint64(i))) //nolint:gosec // a fixed stream of inputs
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	pick := func(words []string) string { return words[rng.IntN(len(words))] }
	n := &Note{Number: fmt.Sprintf("CN-%d-%07d", k, i)}
	n.Date = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rng.IntN(300)).Format(time.DateOnly)
	n.Client.Name = pick(clientGiven) + " " + pick(clientFamily)
	n.Client.Code = fmt.Sprintf("%c%c%07d", 'A'+rng.IntN(26), 'A'+rng.IntN(26), rng.IntN(10_000_000))
	n.Client.Address = []string{fmt.Sprintf("%d %s Road", 1+rng.IntN(998), pick(clientStreet)), fmt.Sprintf("%s %06d", pick(clientTown), 100_000+rng.IntN(800_000))}
	n.Trades = make([]Trade, trades)
	for t := range n.Trades {
		symbol := make([]byte, 4+rng.IntN(4))
		for b := range symbol {
			symbol[b] = letters[rng.IntN(len(letters))]
		}
		hundredths := 1 + rng.IntN(500_000)
		n.Trades[t] = Trade{
			Order:  fmt.Sprintf("%d%09d", 1+t%9, rng.IntN(1_000_000_000)),
			Time:   fmt.Sprintf("%02d:%02d:%02d", 9+t*6/trades, rng.IntN(60), rng.IntN(60)),
			Symbol: string(symbol), Side: [...]string{"BUY", "SELL"}[rng.IntN(2)], Qty: int64(1 + rng.IntN(5000)),
			Price: json.Number(fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)),
		}
	}
	return n
}

// AppendNote appends the data of note i of a kind as JSON.
func AppendNote(dst []byte, k NoteKind, i int) []byte {
	return appendNote(dst, NewNote(k, i, k.Trades()))
}

// AppendTrades is AppendNote with another number of trades.
func AppendTrades(dst []byte, k NoteKind, i, trades int) []byte {
	return appendNote(dst, NewNote(k, i, trades))
}

func appendNote(dst []byte, n *Note) []byte {
	b, err := json.Marshal(n)
	if err != nil {
		panic(fmt.Sprintf("note %s: %v", n.Number, err)) // strings and numbers always encode
	}
	return append(dst, b...)
}

// MixLength is after how many documents the mix has its shares.
const MixLength = 20

// MixKind is the kind of document i of the mix: of every twenty, sixteen are retail, three active
// and one HFT, in another order in each twenty.
func MixKind(i int) NoteKind {
	rng := rand.New(rand.NewPCG(NoteSeed, uint64(i/MixLength))) //nolint:gosec // a fixed stream of inputs
	switch place := rng.Perm(MixLength)[i%MixLength]; {
	case place < 16:
		return Retail
	case place < 19:
		return Active
	default:
		return HFT
	}
}
