package store

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"example.com/quire/internal/record"
)

// All iterates over the documents of all spaces, those of each space newest first. The loop ends
// with the first error.
func (s *Store) All(ctx context.Context) iter.Seq2[*record.Document, error] {
	return func(yield func(*record.Document, error) bool) {
		spaces, err := s.spaces(ctx)
		if err != nil {
			yield(nil, fmt.Errorf("list spaces: %w", err))
			return
		}
		for _, space := range spaces {
			for q := (record.Query{Limit: record.PageMost}); ; {
				page, err := s.List(ctx, space, q)
				if err != nil {
					yield(nil, err)
					return
				}
				for _, d := range page.Documents {
					if !yield(d, nil) {
						return
					}
				}
				if q.After = page.Next; q.After == "" {
					break
				}
			}
		}
	}
}

func (s *Store) spaces(ctx context.Context) (spaces []record.Space, err error) {
	rows, err := s.reader.QueryContext(ctx, "SELECT DISTINCT space FROM documents ORDER BY space")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var space string
		if err := rows.Scan(&space); err != nil {
			return nil, err
		}
		spaces = append(spaces, record.Space(space))
	}
	return spaces, rows.Err()
}
