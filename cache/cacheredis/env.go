package cacheredis

import (
	"cmp"
	"crypto/tls"
	"os"
	"strconv"

	"example.com/quire/cache"
)

// FromEnv reads a Config from the environment: the variables PREFIX_ADDR (host:port),
// PREFIX_USERNAME, PREFIX_PASSWORD, PREFIX_DB (a number), PREFIX_SENTINEL_MASTER (see Config),
// PREFIX_CLUSTER (true or false) and PREFIX_TLS (true: encrypted, with the certificate authorities
// of the system). What is not set is left out. An error is a *cache.ConfigError that names the
// variable.
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
	cluster, err1 := boolean(prefix + "_CLUSTER")
	encrypted, err2 := boolean(prefix + "_TLS")
	if err := cmp.Or(err1, err2); err != nil {
		return Config{}, err
	}
	c.Cluster = cluster
	if encrypted {
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return c, nil
}

// boolean reads a variable that is false if it is not set.
func boolean(name string) (bool, error) {
	v := os.Getenv(name)
	on, err := strconv.ParseBool(cmp.Or(v, "false"))
	if err != nil {
		return false, &cache.ConfigError{Field: name, Got: strconv.Quote(v), Want: "true or false"}
	}
	return on, nil
}
