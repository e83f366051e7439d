import { SystemClock } from '../src/index.ts';
import { clockContract } from './clock-contract.ts';

clockContract(new SystemClock());
