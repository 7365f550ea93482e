package jwt_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"example.com/quire/web"
	"example.com/quire/web/middleware/jwt"
)

// A token is issued at sign-in, and routes are for those who bear one with a role.
func ExampleVerifier_Middleware() {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	issuer, err := jwt.NewIssuer(jwt.IssuerOptions{Key: jwt.SigningKey{Algorithm: "HS256", Key: key}, Issuer: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := jwt.NewVerifier(jwt.Options{Algorithms: []string{"HS256"}, Keys: []jwt.Key{{Algorithm: "HS256", Key: key}}, Issuer: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	till := app.Group("/till", verifier.Middleware(), jwt.RequireRole("till"))
	till.GET("/me", func(c *web.Context) error { return c.String(http.StatusOK, c.User()) })

	token, err := issuer.Issue(jwt.Claims{Subject: "ada", Roles: []string{"till"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, authorization := range []string{"", "Bearer " + token} {
		r := httptest.NewRequest("GET", "/till/me", nil) //nolint:noctx // an example
		r.Header.Set("Authorization", authorization)
		w := httptest.NewRecorder()
		app.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// 401
	// 200
}

// A refresh token is good once. When it comes again, nobody goes on by what followed from it.
func ExampleRefresher() {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	issuer, err := jwt.NewIssuer(jwt.IssuerOptions{Key: jwt.SigningKey{Algorithm: "HS256", Key: key}})
	if err != nil {
		log.Fatal(err)
	}
	refresher, err := jwt.NewRefresher(jwt.NewMemoryFamilies(0), jwt.RefreshOptions{
		Issuer: issuer,
		Claims: func(context.Context, string) (jwt.Claims, error) { return jwt.Claims{Roles: []string{"till"}}, nil },
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	first, err := refresher.Start(ctx, "ada")
	if err != nil {
		log.Fatal(err)
	}
	second, err := refresher.Rotate(ctx, first.Refresh)
	fmt.Println("the first time:", err)
	_, err = refresher.Rotate(ctx, first.Refresh)
	fmt.Println("used before:", errors.Is(err, jwt.ErrRefreshReused))
	_, err = refresher.Rotate(ctx, second.Refresh)
	fmt.Println("the family is gone:", errors.Is(err, jwt.ErrRefreshInvalid))
	// Output:
	// the first time: <nil>
	// used before: true
	// the family is gone: true
}
