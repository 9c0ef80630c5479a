import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import {
  bracketMatching,
  defaultHighlightStyle,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language'
import { lintGutter } from '@codemirror/lint'
import { EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'

interface Options {
  readonly fileName: string
  readonly label: string
  readonly describedBy: string
  readonly isReadOnly: boolean
  /** The nonce that the Content-Security-Policy requires. */
  readonly nonce: string
  readonly onChange: (text: string) => void
  /** Returns true: the key has been handled. */
  readonly onSave: () => true
}

/** The CodeMirror extensions for one file. */
export const editorExtensions = (options: Options): Extension[] => [
  EditorView.cspNonce.of(options.nonce),
  lineNumbers(),
  lintGutter(),
  history(),
  drawSelection(),
  indentOnInput(),
  indentUnit.of('  '),
  EditorState.tabSize.of(2),
  bracketMatching(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  EditorState.readOnly.of(options.isReadOnly),
  EditorView.contentAttributes.of({
    'aria-label': options.label,
    'aria-describedby': options.describedBy,
    // It is focusable anyway; this exposes it to code that looks for focusable elements.
    tabindex: '0',
    spellcheck: 'false',
    autocorrect: 'off',
    autocapitalize: 'off',
  }),
  keymap.of([
    { key: 'Mod-s', preventDefault: true, run: () => options.onSave() },
    ...defaultKeymap,
    ...historyKeymap,
    indentWithTab,
  ]),
  EditorView.updateListener.of(update => {
    if (update.docChanged) options.onChange(update.state.doc.toString())
  }),
  languageOf(options.fileName),
  syntaxHighlighting(colors),
  syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
  theme,
]

function languageOf(fileName: string): Extension {
  if (fileName.endsWith('.json')) return json()
  const [, kind, withJsx] = /\.[cm]?([jt])s(x?)$/.exec(fileName) ?? []
  return kind === undefined ? [] : javascript({ typescript: kind === 't', jsx: kind === 'j' || withJsx === 'x' })
}

/** Colors are CSS variables, so that they follow the color scheme without recreating the editor. */
const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-number)' },
  { tag: [tags.comment, tags.meta], color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--code-function)' },
  { tag: [tags.typeName, tags.className, tags.tagName], color: 'var(--code-type)' },
  { tag: [tags.propertyName, tags.attributeName], color: 'var(--code-property)' },
  { tag: tags.invalid, color: 'var(--mantine-color-error)' },
])

const theme = EditorView.theme({
  '&': { color: 'var(--mantine-color-text)', backgroundColor: 'var(--code-paper)', fontSize: '0.82rem' },
  '&.cm-focused': { outline: '2px solid var(--code-focus)', outlineOffset: '1px' },
  '.cm-scroller': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    lineHeight: '1.55',
    maxHeight: '65vh',
  },
  '.cm-content, .cm-gutter': { minHeight: '20rem' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)', padding: '0.5rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': { backgroundColor: 'var(--code-gutter)', color: 'var(--mantine-color-dimmed)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--code-line)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--code-selection)',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--code-selection)', outline: '1px solid var(--code-focus)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--halyard-line)',
  },
})
