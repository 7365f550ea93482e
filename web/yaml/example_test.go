package yaml_test

import (
	"fmt"
	"os"
	"strings"

	"example.com/quire/web/yaml"
)

func ExampleCodec() {
	var order struct {
		ID    int      `json:"id"`
		Lines []string `json:"lines"`
	}
	err := yaml.Codec{}.Decode(strings.NewReader("id: 7\nlines: [tea, cups]\n"), &order)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := (yaml.Codec{}).Encode(os.Stdout, order); err != nil {
		fmt.Println(err)
	}
	// Output:
	// "id": 7
	// lines:
	//   - "tea"
	//   - "cups"
}
