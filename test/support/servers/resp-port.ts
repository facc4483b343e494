import { until } from '../until';
import type { BuiltServer } from './built-server';

/** The port of the Redis protocol, which a built server logs when it listens. */
export async function respPortOf(server: BuiltServer): Promise<number> {
  const port = (): string | undefined => /Redis protocol on port (\d+)/.exec(server.stdout)?.[1];
  return Number(await until('the port of the Redis protocol', port));
}
