import { missingTools } from './tools';
import { requireZookeeperClient } from './servers/zookeeper-client';

/** Runs before all tiers except the fast one: reports missing tools once and skips nothing. */
export default async function requireTools(): Promise<void> {
  const missing = (await missingTools()).map(({ name }) => name);
  if (missing.length > 0) {
    throw new Error(`These tests need ${missing.join(', ')}, not found here. Run: npm run test:setup`);
  }
  await requireZookeeperClient();
}
