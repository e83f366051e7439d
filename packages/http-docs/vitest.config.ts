import { suite } from '../../vitest.base.ts';

export default suite();
