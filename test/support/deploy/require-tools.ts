import { requireGroups } from '../require-tools';

/** Runs before `npm run test:deploy`: reports missing tools once and skips nothing. */
export default function requireDeployTools(): Promise<void> {
  return requireGroups('deploy');
}
