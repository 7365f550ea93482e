package codec_test

import (
	"fmt"
	"log"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"example.com/quire/cache"
)

// messages is the codec of a protobuf message, such as *pb.Post.
type messages[M proto.Message] struct{}

var _ cache.Codec[*structpb.Struct] = messages[*structpb.Struct]{}

// ID is one of 32 to 127, different from those of a program's other codecs.
func (messages[M]) ID() byte { return 32 }

func (messages[M]) Append(dst []byte, m M) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(dst, m)
}

// Decode says that the message takes four times its encoding, which is an estimate.
func (messages[M]) Decode(src []byte) (m M, size int, err error) {
	m, ok := m.ProtoReflect().New().Interface().(M) // of a nil M, which knows its type
	if !ok {
		return m, 0, fmt.Errorf("%T makes messages of another type", m)
	}
	return m, 4 * len(src), proto.Unmarshal(src, m)
}

// A codec of protobuf messages: one for all types of them.
func Example_protobuf() {
	c := messages[*structpb.Struct]{}
	post, err := structpb.NewStruct(map[string]any{"title": "Rain"})
	if err != nil {
		log.Fatal(err)
	}
	b, err := c.Append(nil, post)
	if err != nil {
		log.Fatal(err)
	}
	back, size, err := c.Decode(b)
	fmt.Println(len(b), back.GetFields()["title"].GetStringValue(), size, err)
	_, _, err = c.Decode(b[:len(b)-1])
	fmt.Println(err != nil)
	// Output:
	// 17 Rain 68 <nil>
	// true
}
