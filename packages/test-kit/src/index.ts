export { type CombinationOptions, combinationsOf } from './combinations.ts'
export { createTestFlags, type TestFlags, type TestFlagsOptions, type Values, withFlags } from './test-flags.ts'
export { serverTestProvider, type TestProvider, webTestProvider } from './test-provider.ts'
