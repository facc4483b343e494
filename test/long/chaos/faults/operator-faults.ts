import { until } from '../../../support/until';
import { type Draw, NO_ANSWER, NO_WORKER, SERVERS } from './fault';

const SETTLED_LIMIT_MS = 120_000;

const rollingRestart: Draw = () => ({
  kind: 'rolling-restart',
  parts: SERVERS.map((name) => `server ${name}`),
  holdMs: 0,
  outlastsBuffers: false,
  detail: '',
  arm: (world) => ({
    async begin() {
      for (const server of world.servers) {
        await server.stop();
        await server.start();
        await until(`server ${server.name}`, async () => (await server.trouble()) === undefined, SETTLED_LIMIT_MS);
      }
    },
    end: () => Promise.resolve(),
    expected: ({ server }) => (server === undefined ? [] : [...NO_ANSWER, ...NO_WORKER]),
  }),
});

export const OPERATOR_FAULTS: readonly Draw[] = [rollingRestart];
