import { missingTools } from './tools';
import { requireZookeeperClient } from './servers/zookeeper-client';

/** Ahead of the first test of every tier but the fast one: what is missing is said once, and nothing is skipped. */
export default async function requireTools(): Promise<void> {
  const missing = (await missingTools()).map(({ name }) => name);
  if (missing.length > 0) {
    throw new Error(`These tests need ${missing.join(', ')}, not found here. Run: npm run test:setup`);
  }
  await requireZookeeperClient();
}
