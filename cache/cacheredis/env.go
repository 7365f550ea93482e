package cacheredis

import (
	"crypto/tls"
	"os"
	"strconv"

	"example.com/quire/cache"
)

// FromEnv reads a Config from the environment: the variables PREFIX_ADDR (host:port), PREFIX_USERNAME,
// PREFIX_PASSWORD, PREFIX_DB (a number), PREFIX_SENTINEL_MASTER (see Config) and PREFIX_TLS (true: encrypted,
// with the certificate authorities of the system). What is not set is left out. An error is a *cache.ConfigError that names the variable.
func FromEnv(prefix string) (Config, error) {
	c := Config{
		Addr: os.Getenv(prefix + "_ADDR"), SentinelMaster: os.Getenv(prefix + "_SENTINEL_MASTER"), Username: os.Getenv(prefix + "_USERNAME"), Password: os.Getenv(prefix + "_PASSWORD"),
	}
	if db := os.Getenv(prefix + "_DB"); db != "" {
		n, err := strconv.Atoi(db)
		if err != nil || n < 0 {
			return Config{}, &cache.ConfigError{Field: prefix + "_DB", Got: strconv.Quote(db), Want: "a number, 0 or more"}
		}
		c.DB = n
	}
	if v := os.Getenv(prefix + "_TLS"); v != "" {
		on, err := strconv.ParseBool(v)
		if err != nil {
			return Config{}, &cache.ConfigError{Field: prefix + "_TLS", Got: strconv.Quote(v), Want: "true or false"}
		}
		if on {
			c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
	}
	return c, nil
}
