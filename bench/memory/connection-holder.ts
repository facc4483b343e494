import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ID_PATH } from './subject';

const WIDTH = 64;
const REQUEST = `GET ${ID_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

/**
 * node connection-holder.js <port>: receives messages with the number of connections to hold, and replies with the
 * number of open connections that have received a response. A separate process, because of the limit of open files.
 */
function main(port: number): void {
  const open = new Set<Socket>();
  process.on('message', (wanted: number) => {
    const worker = async (): Promise<void> => {
      while (open.size < wanted) open.add(await answered(port, open));
    };
    Promise.all(Array.from({ length: WIDTH }, worker)).then(
      () => process.send?.(open.size),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
}

async function answered(port: number, open: Set<Socket>): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  // Counted before it connects, so that concurrent calls do not open too many connections.
  open.add(socket);
  socket.once('close', () => open.delete(socket));
  socket.write(REQUEST);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200 ')) throw new Error(answer.toString('latin1').slice(0, 300));
  return socket;
}

main(Number(process.argv[2]));
