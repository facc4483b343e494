import { comparable, type Exchange, exchange } from '../../support/http-fuzz/exchange';
import { streamOf } from '../../support/http-fuzz/streams';
import { SeededRandom } from '../../support/seeded-random';
import { startTestServer, type TestServer } from '../../support/servers/server';

/** `STREAMS=1000000 npm run test:long -- test/long/http-reader` takes about an hour. */
const STREAMS = Number(process.env.STREAMS ?? 20_000);
const CLIENTS = 32;

let servers: [TestServer, TestServer];
beforeAll(async () => {
  servers = [await startTestServer(), await startTestServer({}, { fastPath: false })];
});
afterAll(() => Promise.all(servers.map((server) => server.stop())));

const REFUSAL = /(^|\n\n)HTTP\/1\.1 400 [^]*?$/;

/**
 * Whether both have the same responses, and ended alike. Node.js ends a connection at bytes that it refuses, also before
 * the response to an earlier request is sent, or with the refusal in its place; an ID from memory is sent before that.
 */
function agree(read: Exchange, parsed: Exchange): boolean {
  const [some, others] = [comparable(read.received), comparable(parsed.received)];
  if (some === others) return (read.end === 'waiting') === (parsed.end === 'waiting');
  return parsed.end !== 'waiting' && read.end !== 'waiting' && some.startsWith(others.replace(REFUSAL, ''));
}

it(`${STREAMS} streams of bytes get the same responses with the reader of ID requests and without it`, async () => {
  const seed = Date.now();
  const different: unknown[] = [];
  let next = 0;
  let responses = 0;
  const client = async (): Promise<void> => {
    while (next < STREAMS && different.length === 0) {
      const number = seed + next++;
      const stream = streamOf(new SeededRandom(number));
      const [one, other] = await Promise.all(servers.map(({ port }) => exchange(port, stream)));
      responses += one!.received.split('HTTP/1.1 ').length - 1;
      if (!agree(one!, other!))
        different.push({ number, ...stream, bytes: stream.bytes.toString('latin1'), with: one, without: other });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  console.log(`seed ${seed}: ${responses} responses to ${next} streams`);
  expect(different).toStrictEqual([]);
  expect(responses).toBeGreaterThan(STREAMS);
}, 7_200_000);
