;; Copies fragments, one after another. The list has an address and a length in bytes for each of them.
(module
  (memory (export "memory") 1)

  (func (export "copy") (param $list i32) (param $count i32) (param $target i32)
    (local $end i32) (local $length i32)
    (local.set $end (i32.add (local.get $list) (i32.shl (local.get $count) (i32.const 3))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $list) (local.get $end)))
        (local.set $length (i32.load offset=4 (local.get $list)))
        (memory.copy (local.get $target) (i32.load (local.get $list)) (local.get $length))
        (local.set $target (i32.add (local.get $target) (local.get $length)))
        (local.set $list (i32.add (local.get $list) (i32.const 8)))
        (br $next)))))
