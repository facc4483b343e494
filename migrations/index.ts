import { CreateLeafTables1732147200000 } from './1732147200000-create-leaf-tables';
import { CreateSegmentServer1795219200000 } from './1795219200000-create-segment-server';
import { AddLeaseId1795219200001 } from './1795219200001-add-lease-id';
import { CreateWorkerPool1795219200002 } from './1795219200002-create-worker-pool';
import { AddTagSettings1795219200003 } from './1795219200003-add-tag-settings';
import { AddPeriodStart1795219200006 } from './1795219200006-add-period-start';
import { AddIssueLimit1795219200010 } from './1795219200010-add-issue-limit';
import { AddNextId1795219200011 } from './1795219200011-add-next-id';
import { CreateNumbers1795219200012 } from './1795219200012-create-numbers';

/** Every migration, oldest first. */
export const migrations = [
  CreateLeafTables1732147200000,
  CreateSegmentServer1795219200000,
  AddLeaseId1795219200001,
  CreateWorkerPool1795219200002,
  AddTagSettings1795219200003,
  AddPeriodStart1795219200006,
  AddIssueLimit1795219200010,
  AddNextId1795219200011,
  CreateNumbers1795219200012,
];

export type { SchemaRunner } from './schema-runner';
