package template_test

import (
	"context"
	"fmt"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/template"
)

func Example() {
	src := `
quire: 1
name: greeting
lang: en-GB
title: "Greeting for ${name}"
data: {name: string, amount: decimal}
body:
  - {text: "Dear **${name}**, you owe ${amount | money('EUR')}."}
`
	ctx := context.Background()
	plan, err := template.Compile(ctx, []byte(src), template.Options{File: "greeting.yaml"})
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := plan.Build(ctx, template.JSON([]byte(`{"name": "Asha *Rao*", "amount": 1234.5}`)), template.BuildOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Title)
	for node, err := range d.Body {
		if text, ok := node.(*doc.Text); ok && err == nil {
			for _, s := range text.Spans {
				fmt.Printf("%q bold=%v\n", s.Text, s.Bold)
			}
		}
	}
	// Output:
	// Greeting for Asha *Rao*
	// "Dear " bold=false
	// "Asha *Rao*" bold=true
	// ", you owe " bold=false
	// "€1,234.50" bold=false
	// "." bold=false
}

// All problems of a template and of data come at once, each at its place.
func Example_diagnostics() {
	src := `
quire: 1
name: greeting
lang: en-GB
title: Greeting
data: {name: string}
body:
  - {tetx: hello}
  - {text: "${nmae}", colour: red}
`
	_, err := template.Compile(context.Background(), []byte(src), template.Options{File: "greeting.yaml"})
	fmt.Println(err)
	// Output:
	// greeting.yaml:8:6: body[0]: unknown kind of block "tetx"; did you mean "text"?                  [T102]
	// greeting.yaml:9:15: body[1].text: no field, variable or parameter "nmae"; did you mean "name"?  [T104]
	// greeting.yaml:9:23: body[1]: unknown key "colour"; did you mean "color"?                        [T101]
}
