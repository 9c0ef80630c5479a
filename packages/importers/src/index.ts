export { convertersBySource, environmentsBySource } from './converters.ts'
export { parseJson } from './document.ts'
export { type ExportedProject, type ExportFormat, type ExportResult, exportFormats } from './export/exported.ts'
export { exporters } from './export/exporters.ts'
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
export { refuseDependents, type Uses, usesOf, usesOfCohort } from './refuse-dependents.ts'
export { sdkDocumentOf } from './sdk-documents.ts'
