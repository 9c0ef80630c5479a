import { setDiagnostics } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { getNonce } from 'get-nonce'
import { useEffect, useLayoutEffect, useRef } from 'react'
import classes from './code-editor.module.css'
import type { CompileError } from './compile-error.ts'
import { editorExtensions } from './editor-extensions.ts'

interface Props {
  fileName: string
  text: string
  label: string
  /** The element that explains how to leave the editor by keyboard. */
  describedBy: string
  isReadOnly: boolean
  /** The compile error in this file. */
  compileError: CompileError | undefined
  /** Moves the cursor to a new compile error. */
  errorVisit: number
  onChange: (text: string) => void
  onSave: () => void
}

/** An editor for one file. Use the file name as the React key. */
export default function CodeEditor(props: Props) {
  const { fileName, label, describedBy, isReadOnly, compileError, errorVisit } = props
  const box = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef(props)
  latest.current = props

  useLayoutEffect(() => {
    const made = new EditorView({
      parent: box.current as HTMLElement,
      state: EditorState.create({
        doc: latest.current.text,
        extensions: editorExtensions({
          fileName,
          label,
          describedBy,
          isReadOnly,
          nonce: getNonce() ?? '',
          onChange: text => latest.current.onChange(text),
          onSave: () => {
            latest.current.onSave()
            return true
          },
        }),
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [fileName, label, describedBy, isReadOnly])

  useEffect(() => {
    const { current } = view
    if (current)
      current.dispatch(setDiagnostics(current.state, compileError ? [diagnosticOf(current.state, compileError)] : []))
  }, [compileError])

  useEffect(() => {
    const { current } = view
    if (!current || !latest.current.compileError || errorVisit === 0) return
    const { from } = diagnosticOf(current.state, latest.current.compileError)
    current.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) })
    current.focus()
  }, [errorVisit])

  return <div ref={box} className={classes.editor} />
}

/** From the column to the end of the line, or the end of the previous line when nothing follows. */
function diagnosticOf({ doc }: EditorState, { line, column, message }: CompileError) {
  const { from: start, to } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  const from = Math.min(start + column - 1, to)
  return { from, to: Math.max(from, Math.min(to, from + 1)), severity: 'error' as const, message }
}
