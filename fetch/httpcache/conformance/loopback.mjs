// Loaded before the suite's server, which would listen on all interfaces.
import net from 'node:net'
const listen = net.Server.prototype.listen
net.Server.prototype.listen = function (port, ...rest) {
  const callbacks = rest.filter(a => typeof a === 'function')
  return listen.call(this, { port, host: '127.0.0.1' }, ...callbacks)
}
