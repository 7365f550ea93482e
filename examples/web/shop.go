package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Product is an article of the catalogue. Prices are cents.
type Product struct {
	SKU   string `json:"sku" doc:"Article number" example:"TEA"`
	Name  string `json:"name" example:"Green tea, 100 g"`
	Price int    `json:"price" doc:"In cents" example:"490"`
	Stock int    `json:"stock" example:"40"`
}

// Line is a part of an order.
type Line struct {
	SKU      string `json:"sku" validate:"required,alphanum,max=20" example:"TEA"`
	Quantity int    `json:"quantity" validate:"min=1,max=99" example:"2"`
}

// Order is what was sold.
type Order struct {
	ID    int       `json:"id" example:"1"`
	Till  string    `json:"till" doc:"Who sold it" example:"ada"`
	Lines []Line    `json:"lines"`
	Total int       `json:"total" doc:"In cents" example:"980"`
	Made  time.Time `json:"made"`
}

var (
	errNoProduct = errors.New("no such product")
	errSoldOut   = errors.New("sold out")
)

// shop is the stock and the orders. It is safe for concurrent use.
type shop struct {
	mu       sync.Mutex
	products map[string]Product
	orders   []Order
}

func newShop() *shop {
	s := &shop{products: map[string]Product{}}
	for _, p := range []Product{{"TEA", "Green tea, 100 g", 490, 40}, {"CUP", "Cup with a blue rim", 1250, 12}, {"POT", "Cast-iron teapot", 6900, 3}} {
		s.products[p.SKU] = p
	}
	return s
}

func (s *shop) list() []Product {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Product, 0, len(s.products))
	for _, p := range s.products {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Product) int { return cmp.Compare(a.SKU, b.SKU) })
	return all
}

func (s *shop) product(sku string) (Product, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.products[sku]
	if !ok {
		return p, fmt.Errorf("%s: %w", sku, errNoProduct)
	}
	return p, nil
}

// sell makes an order of all the lines, or of none. It returns the products as they are now.
func (s *shop) sell(till string, lines []Line) (Order, []Product, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := map[string]Product{}
	o := Order{ID: len(s.orders) + 1, Till: till, Lines: lines, Made: time.Now().UTC().Truncate(time.Second)}
	for _, l := range lines {
		p, ok := changed[l.SKU]
		if !ok {
			if p, ok = s.products[l.SKU]; !ok {
				return Order{}, nil, fmt.Errorf("%s: %w", l.SKU, errNoProduct)
			}
		}
		if p.Stock < l.Quantity {
			return Order{}, nil, fmt.Errorf("%s: %w: %d are left", l.SKU, errSoldOut, s.products[l.SKU].Stock)
		}
		p.Stock -= l.Quantity
		o.Total += l.Quantity * p.Price
		changed[l.SKU] = p
	}
	s.orders = append(s.orders, o)
	var now []Product
	for sku, p := range changed {
		s.products[sku] = p
		now = append(now, p)
	}
	slices.SortFunc(now, func(a, b Product) int { return cmp.Compare(a.SKU, b.SKU) })
	return o, now, nil
}

func (s *shop) order(id int) (Order, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id < 1 || id > len(s.orders) {
		return Order{}, false
	}
	return s.orders[id-1], true
}
