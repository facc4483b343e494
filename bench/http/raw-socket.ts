import { createServer } from 'node:net';

/** node:net without a parser: a constant response to each packet. */
const ID = '1169786042799259000';
const RESPONSE = `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${ID.length}\r\n\r\n${ID}`;

createServer({ noDelay: true }, (socket) => {
  socket.on('data', () => socket.write(RESPONSE, 'latin1'));
  socket.on('error', () => socket.destroy());
}).listen(Number(process.env['LEAF_PORT']), process.env['LEAF_HOST']);
