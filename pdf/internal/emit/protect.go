package emit

import (
	"io"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/crypt"
)

// Protection returns how a file with these options is encrypted; nil without options. Its errors
// are those of crypt.New.
func Protection(o *crypt.Options, rand io.Reader) (*cos.Encryption, error) {
	if o == nil {
		return nil, nil
	}
	h, err := crypt.New(*o, rand)
	if err != nil {
		return nil, err
	}
	dict := cos.Dict{
		cos.E("Filter", cos.Name("Standard")), cos.E("V", cos.Int(5)), cos.E("R", cos.Int(6)), cos.E("Length", cos.Int(256)),
		cos.E("P", cos.Int(h.P)), cos.E("O", cos.Hex(h.O)), cos.E("U", cos.Hex(h.U)), cos.E("OE", cos.Hex(h.OE)), cos.E("UE", cos.Hex(h.UE)),
		cos.E("Perms", cos.Hex(h.Perms)),
		cos.E("CF", cos.Dict{cos.E("StdCF", cos.Dict{
			cos.E("Type", cos.Name("CryptFilter")), cos.E("CFM", cos.Name("AESV3")), cos.E("AuthEvent", cos.Name("DocOpen")), cos.E("Length", cos.Int(32)),
		})}),
		cos.E("StmF", cos.Name("StdCF")), cos.E("StrF", cos.Name("StdCF")),
	}
	if o.PlainMetadata {
		dict = append(dict, cos.E("EncryptMetadata", cos.Bool(false)))
	}
	return &cos.Encryption{Cipher: h, Dict: dict, PlainMetadata: o.PlainMetadata}, nil
}
