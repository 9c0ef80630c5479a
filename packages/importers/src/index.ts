export { convertersBySource } from './converters.ts'
export {
  type Converter,
  type ImportedCohort,
  type ImportedFlag,
  type ImportedProject,
  ImportFileError,
  type ImportItem,
  type ImportOptions,
  type ImportReason,
  type ImportSource,
  importSources,
  sourceIdOf,
} from './model.ts'
