import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;

/** Prints IDs of a worker window, then tries one in a window that has ended. */
class Check {
    public static void main(String[] arguments) throws Exception {
        var ids = (IdentifierGenerator) create(arguments[0]);
        var accept = ids.getClass().getDeclaredMethod("accept", Window.class);
        accept.setAccessible(true);
        long now = System.currentTimeMillis();
        accept.invoke(ids, new Window(Long.parseLong(arguments[1]), now, now + 60_000));
        for (int count = 0; count < 1000; count++) System.out.println(ids.nextId(null));
        accept.invoke(ids, new Window(Long.parseLong(arguments[1]), now, now - 1));
        try {
            System.out.println(ids.nextId(null));
        } catch (IllegalStateException refusal) {
            System.out.println(refusal.getMessage());
        }
    }

    private static Object create(String name) throws Exception {
        var constructor = Class.forName(name).getDeclaredConstructor();
        constructor.setAccessible(true);
        return constructor.newInstance();
    }
}
