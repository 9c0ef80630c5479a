export { checkCohort, checkFlag } from './check.ts'
export type { CompiledFlag } from './compiler.ts'
export type { CohortDefinition, Definitions, EngineOptions, FlagDefinition, Matcher, Subject } from './definition.ts'
export type { Issue, IssueCode } from './issue.ts'
export { type Operator, operators } from './operator.ts'
export type { Outcome, Reason, ReasonCode } from './outcome.ts'
export { usesCohorts, usesFlags, usesOf } from './references.ts'
export type { Requirements } from './requirements.ts'
export type { Results } from './results.ts'
export { type Changes, compile, type EvaluateOptions, type ExplainOptions, type Snapshot } from './snapshot.ts'
export type {
  CohortTrace,
  ConditionTrace,
  EnrollmentTrace,
  FilterTrace,
  FlagTrace,
  GroupTrace,
  HoldoutTrace,
  IdentifierTrace,
  PropertyTrace,
  RolloutTrace,
  Trace,
  VariantTrace,
} from './trace.ts'
