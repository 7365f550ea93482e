// Reads four server-sent events, coming back with Last-Event-ID when the stream ends, and prints them. Argument: URL.
const { EventSource } = await import(`${process.env.NODE_PATH}/eventsource/dist/index.js`);
setTimeout(() => {
  console.error("four events did not come within a minute");
  process.exit(1);
}, 60000); // it also keeps the process alive between two streams
const got = [];
const source = new EventSource(process.argv[2]);
source.addEventListener("stock", (e) => {
  got.push([e.lastEventId, e.type, e.data]);
  if (got.length === 4) {
    source.close();
    console.log(JSON.stringify(got));
    process.exit(0);
  }
});
