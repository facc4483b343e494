interface CatalogueEntry {
  /** HTTP status of the response. Startup errors have 500; they never reach HTTP. */
  readonly status: number;
  /** RFC 9457 title: the kind of error, the same for every occurrence. */
  readonly title: string;
}

/** All error codes of Leaf. `docs/errors.md` explains each one; a test compares the two. */
export const ERROR_CATALOGUE = {
  LEAF_TAG_INVALID: { status: 400, title: 'Invalid tag' },
  LEAF_SIZE_INVALID: { status: 400, title: 'Invalid size' },
  LEAF_ID_INVALID: { status: 400, title: 'Invalid ID' },
  LEAF_BODY_INVALID: { status: 400, title: 'Invalid body' },
  LEAF_REQUEST_INVALID: { status: 400, title: 'Invalid request' },
  LEAF_PERIOD_INVALID: { status: 400, title: 'Invalid period' },
  LEAF_UNAUTHORIZED: { status: 401, title: 'No valid token' },
  LEAF_TAG_NOT_FOUND: { status: 404, title: 'Unknown tag' },
  LEAF_NOT_FOUND: { status: 404, title: 'No such route' },
  LEAF_TAG_EXISTS: { status: 409, title: 'Tag exists' },
  LEAF_MAX_ID_BACKWARDS: { status: 409, title: 'New max_id too low' },
  LEAF_TAG_PERIODIC: { status: 409, title: 'Tag restarts with each period' },
  LEAF_TAG_NOT_PERIODIC: { status: 409, title: 'Tag has no periods' },
  LEAF_REQUEST_TIMEOUT: { status: 408, title: 'Request not completed in time' },
  LEAF_BODY_TOO_LARGE: { status: 413, title: 'Body too large' },
  LEAF_URL_TOO_LONG: { status: 414, title: 'URL too long' },
  LEAF_MEDIA_TYPE_UNSUPPORTED: { status: 415, title: 'Unsupported media type' },
  LEAF_TOO_MANY_FAILURES: { status: 429, title: 'Too many failures' },
  LEAF_HEADERS_TOO_LARGE: { status: 431, title: 'Headers too large' },
  LEAF_INTERNAL: { status: 500, title: 'Internal error' },
  LEAF_SEGMENT_DISABLED: { status: 501, title: 'Segment mode is off' },
  LEAF_SNOWFLAKE_DISABLED: { status: 501, title: 'Snowflake mode is off' },
  LEAF_NOT_READY: { status: 503, title: 'Not ready' },
  LEAF_OVERLOADED: { status: 503, title: 'Overloaded' },
  LEAF_SEGMENT_UNAVAILABLE: { status: 503, title: 'No segment available' },
  LEAF_STORE_UNAVAILABLE: { status: 503, title: 'Store unavailable' },
  LEAF_STORE_BACKWARDS: { status: 503, title: 'Store went backwards' },
  LEAF_TAG_PAUSED: { status: 503, title: 'Tag paused' },
  LEAF_TAG_EXHAUSTED: { status: 503, title: 'Tag used up' },
  LEAF_TAG_ROW_INVALID: { status: 503, title: 'Invalid tag row' },
  LEAF_CLOCK_BACKWARDS: { status: 503, title: 'Clock went backwards' },
  LEAF_LEASE_EXPIRED: { status: 503, title: 'Worker lease expired' },
  LEAF_LEASE_LOST: { status: 503, title: 'Worker lease lost' },
  LEAF_EPOCH_EXHAUSTED: { status: 503, title: 'Epoch exhausted' },
  LEAF_REGISTRY_UNREACHABLE: { status: 503, title: 'Worker registry unreachable' },
  LEAF_SERVERS_UNAVAILABLE: { status: 503, title: 'No server available' },
  LEAF_CONFIG_INVALID: { status: 500, title: 'Invalid configuration' },
  LEAF_LAYOUT_INVALID: { status: 500, title: 'Invalid bit layout' },
  LEAF_LAYOUT_MISMATCH: { status: 500, title: 'Layout differs from the registry' },
  LEAF_REGISTRY_MISMATCH: { status: 500, title: 'Another worker registry in use' },
  LEAF_CLOCK_BEHIND: { status: 500, title: 'Clock behind reserved time' },
  LEAF_WORKER_HELD: { status: 500, title: 'Worker ID in use' },
  LEAF_WORKERS_USED_UP: { status: 500, title: 'No worker ID left' },
  LEAF_CLOCK_OFFSET: { status: 500, title: 'Clock differs from the others' },
  LEAF_WORKER_UNASSIGNED: { status: 500, title: 'No worker ID assigned' },
  LEAF_WORKER_FILE_INVALID: { status: 500, title: 'Invalid worker file' },
  LEAF_DATABASE_UNUSABLE: { status: 500, title: 'Database unusable' },
  LEAF_DATA_DIR_UNUSABLE: { status: 500, title: 'Data directory unusable' },
  LEAF_PORT_UNUSABLE: { status: 500, title: 'Port unusable' },
} as const satisfies Record<string, CatalogueEntry>;

export type LeafErrorCode = keyof typeof ERROR_CATALOGUE;
