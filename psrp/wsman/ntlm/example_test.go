package ntlm_test

import (
	"fmt"

	"example.com/quire/psrp/wsman/ntlm"
)

func Example() {
	credentials := ntlm.New(`DOMAIN\ops`, "secret")
	h, err := credentials.Begin() // one per connection
	fmt.Println(credentials, err)
	fmt.Printf("%.7s\n", h.Negotiate())
	// Output:
	// NTLM credentials of ops <nil>
	// NTLMSSP
}
