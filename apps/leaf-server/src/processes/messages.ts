import type { LeafConfig } from '../config/leaf-config';

/** `--process=1` marks a process that the server has started by itself. */
export const PROCESS_FLAG = '--process';

/** How a question that went to all processes was answered by one that is not the one who asks. */
export type Reply =
  | { readonly process: number; readonly value: unknown }
  | {
      readonly process: number;
      /** Why there is no answer of this process. */
      readonly missing: string;
      /** The process has ended; its replacement begins with what the others know. */
      readonly gone: boolean;
    };

/** Messages of a process to its supervisor. */
export type Report =
  | { readonly kind: 'prepared' }
  | { readonly kind: 'listening'; readonly place: string }
  /** The answer to a ping. */
  | { readonly kind: 'pong' }
  /** The start has failed: for people. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'ask'; readonly id: number; readonly topic: string; readonly question: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'no answer'; readonly id: number; readonly reason: string };

/** Messages of the supervisor to a process. */
export type ProcessCommand =
  /** The first one. All processes have the settings with which the server was started, whatever became of the files. */
  | { readonly kind: 'start'; readonly config: LeafConfig; readonly process: number }
  /** Begin to listen; with `whenReady` only once this process is ready, because others serve meanwhile. */
  | { readonly kind: 'listen'; readonly whenReady: boolean }
  | { readonly kind: 'stop'; readonly drain: boolean }
  /** A process that does not answer for long is killed. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'ask'; readonly id: number; readonly topic: string; readonly question: unknown }
  /** The replies to a question of this process. */
  | { readonly kind: 'replies'; readonly id: number; readonly replies: readonly Reply[] };
