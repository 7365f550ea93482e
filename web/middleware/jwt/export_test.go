package jwt

import "github.com/golang-jwt/jwt/v5"

// Method is what a Verifier checks signatures of an algorithm by.
func Method(algorithm string) jwt.SigningMethod { return strict(jwt.GetSigningMethod(algorithm)) }
