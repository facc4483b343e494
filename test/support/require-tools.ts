import { missingTools, type ToolGroup } from './tools';
import { requireZookeeperClient } from './servers/zookeeper-client';

/** Runs before all tiers except the fast one: reports missing tools once and skips nothing. */
export default async function requireTools(): Promise<void> {
  await requireGroups();
  await requireZookeeperClient();
}

export async function requireGroups(...groups: readonly ToolGroup[]): Promise<void> {
  const missing = (await missingTools(groups)).map(({ name }) => name);
  if (missing.length === 0) return;
  const options = groups.map((group) => `--${group}`);
  const command = ['npm run test:setup', ...(options.length > 0 ? ['--', ...options] : [])].join(' ');
  throw new Error(`These tests need ${missing.join(', ')}, not found here. Run: ${command}`);
}
