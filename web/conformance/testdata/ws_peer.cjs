// Sends messages to an echo over WebSocket and wants them back. Arguments: URL, "deflate" or "plain".
const { WebSocket } = require("ws");
const [url, how] = process.argv.slice(2);
const messages = ["text", "", "é".repeat(1000), Buffer.alloc(1000, 0xff), "x".repeat(20000)];
const fail = (why) => {
  console.error(why);
  process.exit(1);
};
setTimeout(fail, 60000, "no answer for a minute");
const ws = new WebSocket(url, { perMessageDeflate: how === "deflate" ? { threshold: 0 } : false });
let next = 0;
ws.on("error", fail);
ws.on("open", () => {
  if (Boolean(ws.extensions) !== (how === "deflate")) fail(`extensions ${ws.extensions}`);
  ws.send(messages[0]);
});
ws.on("message", (data, binary) => {
  const sent = messages[next];
  if (binary !== Buffer.isBuffer(sent) || Buffer.compare(data, Buffer.from(sent)) !== 0) fail(`message ${next} came back as another`);
  next++;
  if (next === messages.length) ws.close(1000);
  else ws.send(messages[next]);
});
ws.on("close", (code) => {
  if (code !== 1000 || next !== messages.length) fail(`closed by ${code} after ${next} messages`);
  process.exit(0);
});
