// Without Nest: that is in nest.ts.
export type { LeafClientEvents } from './client-options';
export {
  DEFAULT_CLIENT_OPTIONS,
  type LeafClientOptions,
  type LeafServerAddress,
  type SnowflakeFetchOptions,
} from './client-options';
export type { ClientToken } from './http/http-connection';
export { type DroppedIds, LeafClient, type LeafClientSnapshot } from './leaf-client';
export type { IssuedNumber, NumberRequests } from './number-requests';
export type { PrefetchOptions } from './prefetch/prefetch-context';
export type { PrefetchView } from './prefetch/prefetch-buffer';
export type { SnowflakePrefetchOptions } from './prefetch/snowflake-buffer';
export type { ServerView } from './servers/server';
export type { EjectionOptions, ServerState } from './servers/server-health';
export type { TagBufferView as TagView } from './tag-buffers';
export type { SnowflakeWindowOptions } from './window/window-options';
export type { WindowView } from './window/window-snowflakes';
