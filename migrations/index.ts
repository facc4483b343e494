import { CreateLeafTables1732147200000 } from './1732147200000-create-leaf-tables';
import { CreateSegmentServer1795219200000 } from './1795219200000-create-segment-server';
import { AddLeaseId1795219200001 } from './1795219200001-add-lease-id';
import { CreateWorkerPool1795219200002 } from './1795219200002-create-worker-pool';

/** Every migration, oldest first. */
export const migrations = [
  CreateLeafTables1732147200000,
  CreateSegmentServer1795219200000,
  AddLeaseId1795219200001,
  CreateWorkerPool1795219200002,
];
